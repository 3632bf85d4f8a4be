// Holds the place
