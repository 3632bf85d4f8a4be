extension [OptionDefinition] {
  /// What all services share.
  public static let service: [OptionDefinition] = [
    .option(
      "data", "DIR", help: "Where the service keeps what must outlive it.",
      default: "./eventbus-data"),
    .option(
      "port-base", "N",
      help: "Shifts all default ports so that the bus is at N; 0: the system chooses.",
      default: "7400"),
    .option("metrics", "HOST:PORT", help: "Serve /metrics, /healthz, /readyz and /status there."),
    .flag("insecure", help: "Let it be open to other machines without any key."),
    .option(
      "grace", "DURATION", help: "Time to finish what is in hand when told to stop.",
      default: "10s"),
  ]

  /// What durable subscribers share. The cursor's name defaults to the command's.
  public static func subscriber(name: String) -> [OptionDefinition] {
    [
      .option(
        "name", "CURSOR", help: "The name under which the bus keeps the position.",
        default: name),
      .repeated("events", "PATTERN", help: "Event names to take; all when none is given."),
      .repeated("exact", "NAME", help: "An event name without special characters."),
      .option(
        "start", "WHERE", help: "Where a new name begins: earliest, latest, an offset or a time.",
        default: "earliest"),
    ]
  }
}
