"""Pure rules of prediction: no network, no clock, no chance."""
