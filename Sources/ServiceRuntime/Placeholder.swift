// Holds the place until the module is written.
