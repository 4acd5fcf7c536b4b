"""How far the noise and the tail of a signal carry into its recovery: the constants C₃ and C₂, decoder by decoder."""
