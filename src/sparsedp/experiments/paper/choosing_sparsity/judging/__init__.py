"""What is made of the measured curves and picks: the flat part of the U, and how often the choice falls into it."""
