"""How much one record moves what the paper puts noise on: the samples, and the scores that S is chosen by."""
