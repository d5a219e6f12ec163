"""`memvault ...`: a client of the gateway, and the switch that starts and stops everything on this machine."""
