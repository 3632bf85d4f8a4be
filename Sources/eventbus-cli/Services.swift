import ServiceRuntime

/// The services that `up` runs, in the order of their start. A new service is one more entry here.
struct Services {
  /// This executable: every service is a command of it.
  var program: String
  var data: String
  var portBase: Int
  var isDemo: Bool
  var environment: [String: String]
  var logArguments: [String]
  /// The demonstration's reports; nil: the usual ones, or what the environment says.
  var reports: String?

  var specifications: [ServiceSpecification] {
    var services = [broker, collector, archiver, aggregator]
    services += publishers
    if isDemo { services.append(demoGames) }
    return services.map { service in
      var service = service
      service.holdsSignals = true
      return service
    }
  }

  private var bus: String { "tcp://127.0.0.1:\(portBase)" }

  private var broker: ServiceSpecification {
    ServiceSpecification(
      name: "broker", program: program,
      arguments: ["broker", "--data", data, "--port-base", "\(portBase)"] + logArguments)
  }

  private var collector: ServiceSpecification {
    ServiceSpecification(
      name: "collector", program: program,
      arguments: [
        "collector", "--data", data, "--port-base", "\(portBase)", "--bus", bus,
      ] + logArguments,
      after: ["broker"])
  }

  /// In a demonstration a file is finished soon: who looks into the archive then wants to see something.
  private var archiver: ServiceSpecification {
    ServiceSpecification(
      name: "archiver", program: program,
      arguments: [
        "archiver", "--dir", data + "/archive", "--port-base", "\(portBase)", "--bus", bus,
      ] + (isDemo ? ["--roll-age", "15s"] : []) + logArguments, after: ["broker"])
  }

  private var aggregator: ServiceSpecification {
    ServiceSpecification(
      name: "aggregator", program: program,
      arguments: ["aggregator", "--data", data, "--port-base", "\(portBase)", "--bus", bus]
        + (reports.map { ["--reports", $0] } ?? []) + logArguments,
      after: ["broker"])
  }

  private var publishers: [ServiceSpecification] {
    PublisherServices(environment: environment).specifications(
      program: program,
      arguments: ["--data", data, "--port-base", "\(portBase)", "--bus", bus] + logArguments)
  }

  private var demoGames: ServiceSpecification {
    ServiceSpecification(
      name: "demo-games", program: program,
      arguments: ["demo-games", "--bus", bus] + logArguments, after: ["broker"], isRequired: false)
  }
}
