import EventModel
import Primitives
import ServiceRuntime
import TrackingPlan

/// `eventbus plan infer`: a first plan from events that are there.
enum PlanInferCommand {
  static let entry = Commands.Entry(
    definition: CommandDefinition(
      name: "plan infer", group: "Tracking plan",
      summary: "Makes a plan of recorded events: names, properties, types, what is always given.",
      positionals: [PlanEventSource.positional],
      options: PlanEventSource.options + [
        .option(
          "values", "N",
          help: "Fix the values of texts that have at most N, each seen ten times on average.",
          default: "0")
      ],
      examples: [
        CommandExample("eventbus plan infer > plan.json", "From everything that the bus has."),
        CommandExample(
          "eventbus archive query --dir ./archive --from 7d | eventbus plan infer -",
          "From a week of the archive."),
      ]),
    run: { context in
      let values = try context.arguments.value("values", in: 0...1000)
      let source = try PlanEventSource(context, positional: 0)
      var inference = PlanInference(maximumValues: values)
      let outcome = try source.forEach { event, _ in
        // A place of an app that nobody has named is no event type.
        guard RawPaths.path(of: event) == nil else { return }
        inference.take(EventType(event.event ?? ""), event.properties)
      }
      if let code = context.interruption.code { return code }
      if inference.leftOut > 0 {
        Terminal.error(
          "\(inference.leftOut.counted("event")) or properties beyond \(PlanLimits.maximumEvents) names and "
            + "\(PlanLimits.maximumProperties) properties each were left out")
      }
      Terminal.output(String(decoding: inference.plan.json, as: UTF8.self))
      return outcome.code
    })
}
