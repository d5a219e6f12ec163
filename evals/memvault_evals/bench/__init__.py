"""Speed: what a recall costs at several sizes of a vault, against what it cannot do without, in one run."""
