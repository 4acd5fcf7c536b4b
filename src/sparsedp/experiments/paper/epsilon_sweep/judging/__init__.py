"""What is made of the measured errors: advantages with their intervals, and the sentences about them."""
