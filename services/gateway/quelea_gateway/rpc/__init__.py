"""What is served over gRPC beside questions, and what each call passes first."""
