import Testing

/// Tests of the built program. One at a time: each has processes of its own and most measure time.
@Suite(.serialized, .timeLimit(.minutes(3)))
enum IntegrationTests {}
