"""A language model behind an OpenAI-compatible address; having none is the normal case."""
