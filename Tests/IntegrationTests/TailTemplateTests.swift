import TestSupport
import Testing

extension IntegrationTests {
  /// What `tail --template` takes.
  @Suite struct TailTemplateTests {
    @Test(arguments: [
      (
        "{nope}",
        "no envelope has a field 'nope', and a property is written {properties.nope}"
      ),
      ("{tpye}", "the nearest is {type}"), ("{user}", "the nearest is {userId}"),
      ("{Event}", "the nearest is {event}"),
      ("{}", "no envelope has a field ''"),
      ("{properties.}", "no envelope has a field 'properties.'"),
      ("{event.name}", "event holds no fields; write {event}"), ("{event", "'{' without '}'"),
    ])
    func `a field that no envelope has is told at once`(_ template: String, _ text: String) throws {
      let run = try Program.run(["tail", "--template", template, "--bus", "tcp://127.0.0.1:1"])
      #expect(run.status == .exited(2))
      #expect(run.errorLines.count == 1 && run.errors.contains(text), "\(run.errors)")
    }

    @Test func `fields, the offset and braces are filled in`() throws {
      let broker = try TestBroker()
      _ = try broker.publish(lines: [EventLine.track("A", id: "m", properties: "{\"p\":[1]}")])
      let run = try Program.run([
        "tail", "--since", "earliest", "--until-end", "--bus", broker.bus, "--template",
        "{offset} {event} {{}} {properties.p} {properties.none}.",
      ])
      #expect(run.output == "0 A {} [1] .\n", "\(run.errors)")
    }
  }
}
