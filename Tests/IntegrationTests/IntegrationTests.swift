import Testing

/// Tests of the built program. One at a time: each has processes of its own and most measure time. The limit
/// is for a busy machine and an instrumented program; of a longer one below it only the shorter would count.
@Suite(.serialized, .timeLimit(.minutes(10)))
enum IntegrationTests {}
