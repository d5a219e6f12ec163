"""Settings, telemetry, life cycle and the embedded servers."""
