"""Facts travel here: subjects, CloudEvents envelopes and the durable broker over NATS JetStream."""
