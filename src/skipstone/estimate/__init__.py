"""Cost, benefit, drift and advice: functions of figures."""
