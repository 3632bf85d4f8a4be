import BusClient
import Primitives
import ServiceRuntime
import TrackingPlan

/// `eventbus plan publish`: a collection plan for everybody on the bus and behind the collector.
enum PlanPublishCommand {
  static let entry = Commands.Entry(
    definition: CommandDefinition(
      name: "plan publish", group: "Tracking plan",
      summary: "Puts a collection plan into force: apps and collectors take it without a restart.",
      positionals: [PlanInput.positional],
      options: [
        .flag("dry-run", help: "Only say what would change."),
        .json,
        .option("timeout", "TIME", help: "How long to wait for the bus.", default: "10s"),
      ],
      examples: [
        CommandExample("eventbus plan publish plan.json --dry-run", "What would change."),
        CommandExample("eventbus plan publish plan.json", "From now on."),
      ]),
    run: run)

  private static func run(_ context: Commands.Context) throws -> ExitCode {
    let path = context.arguments.positionals[0]
    let document = try PlanInput.read(path, context)
    let plan: PublishedPlan
    do throws(PlanError) { plan = try PublishedPlan(document) } catch {
      throw CommandFailure(.failed, "\(path): \(error)")
    }
    let current = try PlanInput.published(context)
    if let current, current.tag == plan.tag { return end(plan, "is in force already", context) }
    if let current, current.document.version >= plan.document.version {
      throw CommandFailure(
        .failed,
        "version \(plan.document.version) would not count: the bus has version "
          + "\(current.document.version). Give \(path) a higher \"version\"")
    }
    guard !context.arguments.flag("dry-run") else {
      let old = current?.document ?? PlanDocument().forApps
      PlanText.show(PlanDifference(from: old, to: plan.document), context)
      return .done
    }
    try publish(plan, context)
    return end(plan, "is in force", context)
  }

  private static func publish(_ plan: PublishedPlan, _ context: Commands.Context) throws {
    let address = try context.arguments.requiredText("bus")
    let timeout = try context.arguments.value("timeout", as: Duration.self)
    let notes = PublishNotes()
    var configuration = ProducerConfiguration(address: address, client: "eventbus plan publish")
    configuration.onRefused = { notes.refused($0) }
    let producer = try Producer(configuration)
    guard try producer.waitForBus(timeout, context.interruption) else {
      throw CommandFailure.unreachable(address, within: timeout)
    }
    for event in plan.events { try producer.publish(event) }
    let result = producer.closeBlocking(deadline: timeout)
    if result.refused > 0 { throw CommandFailure(.failed, "the bus refused the plan") }
    guard result.isComplete else {
      throw CommandFailure(
        .eventsUnaccounted, "the bus has not acknowledged the plan; publish it again")
    }
  }

  private static func end(
    _ plan: PublishedPlan, _ what: String, _ context: Commands.Context
  ) -> ExitCode {
    if context.arguments.flag("json") {
      Terminal.output(
        JSONText.object([
          .init("version", PlanText.integer(plan.document.version)), .init("tag", .text(plan.tag)),
          .init("bytes", PlanText.integer(plan.bytes.count)),
        ]).description + "\n")
    } else {
      Terminal.output(
        "version \(plan.document.version) \(what) for apps and collectors: "
          + "\(PlanText.collection(plan.document)); event types stay in the file\n")
    }
    return .done
  }
}
