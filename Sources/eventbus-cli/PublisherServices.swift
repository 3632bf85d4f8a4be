import ServiceRuntime

/// The publishers that `up` starts: those whose credentials are in its environment.
///
/// `EVENTBUS_SEGMENT_WRITE_KEY` is `EVENTBUS_WRITE_KEY` for the Segment publisher alone, and so with each
/// option of each destination: several of them, and the collector, have options of the same name. A child
/// gets them in its environment, where `ps` does not show them.
struct PublisherServices {
  let environment: [String: String]

  /// By which of these variables a destination is asked for.
  private static let credentials: [(name: String, variables: [String])] = [
    ("segment", ["WRITE_KEY", "WRITE_KEY_FILE"]),
    ("mixpanel", ["SECRET", "SECRET_FILE", "TOKEN", "TOKEN_FILE"]),
    ("gameanalytics", ["SECRET_KEY", "SECRET_KEY_FILE"]),
    ("webhook", ["ENDPOINT"]),
  ]

  func specifications(
    program: String, arguments: [String]
  ) -> [ServiceSpecification] {
    Self.credentials.compactMap { name, variables in
      let prefix = "EVENTBUS_\(name.uppercased())_"
      guard variables.contains(where: { environment[prefix + $0]?.isEmpty == false }) else {
        return nil
      }
      let own = environment.filter { $0.key.hasPrefix(prefix) }.map { key, value in
        ("EVENTBUS_" + key.dropFirst(prefix.count), value)
      }
      return ServiceSpecification(
        name: name, program: program, arguments: [name] + arguments,
        environment: Dictionary(own) { first, _ in first }, after: ["broker"], isRequired: false)
    }
  }
}
