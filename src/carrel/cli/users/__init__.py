"""The commands of users, one module for each. They go through the SDK, as any other program would."""
