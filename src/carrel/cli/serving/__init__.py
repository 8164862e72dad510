"""How `carrel serve` runs uvicorn: its signals, and limits that uvicorn's HTTP protocol lacks."""
