/// A rule that is broken on purpose, to show that the simulation would tell. Each is what a plausible mistake in
/// the product would do, made where the simulated parts stand in for its threads, so the product stays as it is.
enum PlantedBug: String, CaseIterable {
  /// The broker counts a group as durable before the writer has it.
  case acknowledgesBeforeItWrites
  /// The writer leaves `fdatasync` out.
  case neverSynchronizes
  /// A restarted broker does not know which batches of a producer it has.
  case forgetsWhatProducersSent
  /// Retention deletes what a named subscriber has not read.
  case deletesUnread
  /// The cursor store says that it has committed, and has not.
  case losesCursors
  /// A subscriber commits what came in before it has handled it.
  case commitsBeforeItHandles
  /// A subscriber commits, after an operator's seek, what it took before it.
  case commitsAcrossSeeks
  /// A producer gives a batch a new sequence when it sends it again.
  case renumbersWhatItRepeats
  /// A subscriber's program leaves out a batch now and then.
  case skipsBatches

  /// A part of what the oracle says of it; of several, what comes first depends on the storm.
  var evidence: [String] {
    switch self {
    case .acknowledgesBeforeItWrites: ["stored"]
    // A file that was never synced can be gone whole.
    case .neverSynchronizes: ["damaged", "acknowledged, 0 stored"]
    case .forgetsWhatProducersSent, .renumbersWhatItRepeats: ["producer"]
    // Who finds what he has not read deleted is moved past it.
    case .deletesUnread: ["retention", "the cursor of"]
    case .losesCursors: ["was told"]
    case .commitsBeforeItHandles, .commitsAcrossSeeks: ["the cursor of"]
    case .skipsBatches: ["never got"]
    }
  }
}
