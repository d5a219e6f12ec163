"""What the personal prior buys and costs, on people invented from labelled questions (R-05, decision 0026)."""
