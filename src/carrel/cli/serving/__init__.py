"""How `carrel serve` runs uvicorn: its signals, and the limits that its HTTP protocol lacks."""
