"""What the reader of a report is told, against what is true."""
