// Holds the place until the tests are written.
