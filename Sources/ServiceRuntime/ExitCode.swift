/// What the program's exit status means; scripts rely on the numbers.
public enum ExitCode: Int32, Sendable, CaseIterable {
  case done = 0
  case failed = 1
  case usage = 2
  case someInputRefused = 3
  /// Events were lost, not acknowledged, or cannot be accounted for.
  case eventsUnaccounted = 4
  /// Events were missing and the command was told to stop at gaps.
  case gap = 5
  /// Another instance took over.
  case fenced = 6
  /// The bus was unreachable before anything was sent.
  case busUnreachable = 69
  case dataDirectoryInUse = 73
  case diskError = 74
  case hungUp = 129
  case interrupted = 130
  case terminated = 143

  /// As the manual says it.
  public var meaning: String {
    switch self {
    case .done: "Done."
    case .failed: "Failed, or found what it looks for: see the message."
    case .usage: "The command line cannot be followed; the message names the option."
    case .someInputRefused: "Some input was refused; the rest was taken."
    case .eventsUnaccounted: "Events are lost, not acknowledged, or unaccounted for."
    case .gap: "Events were missing, and it was to stop at gaps."
    case .fenced: "Another instance has taken over."
    case .busUnreachable: "The bus was unreachable before anything was sent."
    case .dataDirectoryInUse: "Another process has the data directory."
    case .diskError: "The disk failed, or is full."
    case .hungUp: "Ended by SIGHUP, its terminal being gone (a service goes on)."
    case .interrupted: "Ended by SIGINT (a service that ends in order exits 0)."
    case .terminated: "Ended by SIGTERM (a service that ends in order exits 0)."
    }
  }
}
