import BusClient
import DropFour
import EventModel
import Primitives
import ServiceRuntime

/// `eventbus demo-games`: plays games and publishes what happens in them; started by `up --demo`.
enum DemoGamesCommand {
  static let entry = Commands.Entry(definition: definition, run: run)

  private static var definition: CommandDefinition {
    var definition = CommandDefinition(
      name: "demo-games", group: "Services",
      summary: "Plays games and publishes their events.",
      options: [
        .option("rate", "RATE", help: "Games begun a second.", default: "2"),
        .option("count", "N", help: "Stop after N games."),
        .option("seed", "N", help: "The same games every time."),
        .option("grace", "DURATION", help: "Time for the last acknowledgements.", default: "10s"),
      ],
      examples: [
        CommandExample("eventbus demo-games", "Until it is stopped."),
        CommandExample("eventbus demo-games --count 10 --seed 1", "Ten games, always the same."),
      ])
    definition.isHidden = true
    return definition
  }

  private static func run(_ context: Commands.Context) throws -> ExitCode {
    let arguments = context.arguments
    let rate = try arguments.value("rate", as: Rate.self)
    let count = try arguments.optional("count", in: 0...Int.max) ?? .max
    let grace = try arguments.value("grace", as: Duration.self)
    var system = SystemRandomNumberGenerator()
    let seed = try arguments.optional("seed", in: 0...Int.max).map(UInt64.init) ?? system.next()
    var configuration = ProducerConfiguration(
      address: try arguments.requiredText("bus"), client: "eventbus demo-games")
    let log = context.log.labelled("demo-games")
    configuration.onReport = { log.note($0) }
    let producer = try Producer(configuration)
    try Readiness.announce([], context)
    var games = DemoGames(seed: seed)
    let steady = SteadyRate(rate.perSecond)
    for index in 0..<count {
      guard steady.wait(for: UInt64(index), context.interruption) else { break }
      producer.identity = EventIdentity(userId: games.nextPlayer(), anonymousId: "")
      for event in games.next() { try publish(event, on: producer) }
    }
    try ServiceManager(environment: context.environment).stopping()
    let result = producer.closeBlocking(deadline: grace)
    guard result.isComplete else {
      throw CommandFailure(
        .eventsUnaccounted,
        result.unacknowledged.counted("event was", "events were") + " not acknowledged")
    }
    return .done
  }

  private static func publish(_ event: any PublishableEvent, on producer: Producer) throws {
    try producer.publish(event)
  }
}
