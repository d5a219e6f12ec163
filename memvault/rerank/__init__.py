"""Generated from proto/ by scripts/generate_proto.py; never edited."""
