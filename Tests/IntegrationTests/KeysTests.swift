import Foundation
import TestSupport
import Testing

extension IntegrationTests {
  /// A broker process that asks for keys, and the commands that manage them.
  struct KeysTests {
    /// The broker, the key of a client, and how a command shows it.
    private final class Keyed {
      let broker: TestBroker
      let folder: TemporaryFolder
      var data: String { broker.folder.file("data") }

      init(_ options: [String] = []) throws {
        broker = try TestBroker(["--curve"] + options)
        folder = try TemporaryFolder()
      }

      var server: String { data + "/broker.key.pub" }

      func generate(_ name: String) throws -> String {
        let path = folder.file(name + ".key")
        let run = try Program.run(["keys", "generate", path])
        try #require(run.status == .exited(0), "\(run.errors)")
        return path
      }

      @discardableResult
      func keys(_ arguments: [String]) throws -> Program.Run {
        let run = try Program.run(["keys"] + arguments + ["--data", data])
        try #require(run.status == .exited(0), "\(run.errors)")
        return run
      }

      func run(_ key: String, _ arguments: [String], input: String = "") throws -> Program.Run {
        try Program.run(
          arguments + ["--bus", broker.bus, "--curve-key", key, "--server-key", server],
          input: input)
      }
    }

    @Test func `a client is denied, authorised, used and revoked`() throws {
      let keyed = try Keyed()
      let key = try keyed.generate("shop")
      let event = ["publish", "--event", "Order Placed"]

      let denied = try keyed.run(key, event)
      #expect(denied.status == .exited(1))
      #expect(denied.errors.contains("DENIED"), "\(denied.errors)")
      #expect(denied.errors.contains("eventbus keys authorize"), "\(denied.errors)")

      let authorized = try keyed.keys([
        "authorize", key + ".pub", "--publish", "Order *", "--subscribe", "*", "--administer", "*",
      ])
      #expect(authorized.output.contains(keyed.broker.addresses["serverKey"] ?? "-"))
      #expect(try waitUntil { try keyed.run(key, event).status == .exited(0) })
      let refused = try keyed.run(key, ["publish", "--event", "Game Ended"])
      #expect(refused.status == .exited(3) && refused.errors.contains("FORBIDDEN"))
      let tail = try keyed.run(
        key, ["tail", "--since", "earliest", "--until-end", "--format", "ndjson"])
      #expect(tail.lines.count == 1, "\(tail.errors)")
      #expect(try keyed.run(key, ["status", "--json"]).output.contains("Order Placed"))

      let list = try keyed.keys(["list", "--json"])
      #expect(list.output.contains(#""name":"shop""#) && list.output.contains(#""Order *""#))
      try keyed.keys(["revoke", "shop"])
      #expect(try waitUntil { try keyed.run(key, event).errors.contains("DENIED") })
      for command in [["tail", "--until-end"], ["status"], ["tail", "--live"]] {
        let run = try keyed.run(key, command)
        #expect(run.status == .exited(1) && run.errors.contains("DENIED"), "\(run.errors)")
      }
      #expect(try !keyed.keys(["list"]).output.contains("shop"))
    }

    @Test func `a live reader whose key is revoked is told, and ends`() throws {
      let keyed = try Keyed()
      let key = try keyed.generate("reader")
      try keyed.keys(["authorize", key, "--subscribe", "*"])
      #expect(
        try waitUntil { try keyed.run(key, ["tail", "--until-end"]).status == .exited(0) })
      let tail = try ChildProcess(
        Program.path,
        [
          "tail", "--live", "--ready", "--bus", keyed.broker.bus, "--curve-key", key,
          "--server-key", keyed.server,
        ])
      #expect(tail.errorOutput.waitForLine { $0 == "ready" } != nil, "\(tail.errorOutput.text)")
      try keyed.keys(["revoke", "reader"])
      #expect(tail.wait(.seconds(60)) == .exited(1))
      #expect(tail.errorOutput.text.contains("DENIED"), "\(tail.errorOutput.text)")
    }

    @Test func `a running tail whose key is revoked is told once, and goes on once it is back`()
      throws
    {
      let keyed = try Keyed()
      let key = try keyed.generate("reader")
      let rights = ["authorize", key, "--publish", "*", "--subscribe", "*"]
      try keyed.keys(rights)
      let event = ["publish", "--event", "A"]
      #expect(try waitUntil { try keyed.run(key, event).status == .exited(0) })
      let tail = try ChildProcess(
        Program.path,
        [
          "tail", "--since", "earliest", "--bus", keyed.broker.bus, "--curve-key", key,
          "--server-key", keyed.server,
        ])
      defer { tail.signal(SIGKILL) }
      #expect(tail.output.waitForLine { $0.contains("A") } != nil, "\(tail.errorOutput.text)")
      try keyed.keys(["revoke", "reader"])
      func told(_ words: String) -> Bool {
        tail.errorOutput.waitForLine(.seconds(60)) { $0.contains(words) } != nil
      }
      #expect(told("does not let this in (DENIED)"), "\(tail.errorOutput.text)")
      try keyed.keys(rights)
      #expect(told("answers now"), "\(tail.errorOutput.text)")
      let denials = tail.errorOutput.lines.filter { $0.contains("DENIED") }
      #expect(denials.count == 1 && denials[0].contains("eventbus keys authorize"), "\(denials)")
    }

    @Test func `a service without a key says what it needs, and the broker counts it`() throws {
      let keyed = try Keyed()
      let line = "eventbus_broker_handshakes_failed_total{port=\"bus\",reason=\"keys\"}"
      // What `/metrics` shows is taken once in a while, the first time soon after the start.
      #expect(try waitUntil { try keyed.broker.metric(line) == 0 })
      let service = try ChildProcess(
        Program.path,
        [
          "webhook", "--endpoint", "http://127.0.0.1:9/", "--bus", keyed.broker.bus, "--port-base",
          "0", "--data", keyed.folder.file("data"), "--timeout", "2s",
        ])
      #expect(service.wait(.seconds(60)) == .exited(1))
      let lines = service.errorOutput.lines
      #expect(lines.last?.contains("give --curve-key FILE") == true, "\(lines)")
      #expect(!service.errorOutput.text.contains("no answer"), "\(lines)")
      // One that hangs up first is counted as a client that ended: others come.
      let isCounted = try waitUntil(.seconds(60)) {
        _ = try Program.run(["status", "--bus", keyed.broker.bus, "--timeout", "500ms"])
        return try keyed.broker.metric(line) ?? 0 > 0
      }
      #expect(isCounted)
      let told = keyed.broker.process.errorOutput.waitForLine {
        $0.contains("a client without keys was not let in")
      }
      #expect(told != nil)
      let key = try keyed.generate("operator")
      try keyed.keys(["authorize", key, "--administer", "*"])
      #expect(
        try waitUntil {
          try keyed.run(key, ["status"]).output.contains(
            "keys on one side alone: --curve, --curve-key")
        })
    }

    @Test func `doctor looks through the key that it is given`() throws {
      let keyed = try Keyed()
      let key = try keyed.generate("doctor")
      try keyed.keys(["authorize", key, "--subscribe", "*", "--administer", "*"])
      let look = ["doctor", "--data", keyed.data, "--port-base", "0", "--timeout", "5s"]
      #expect(try waitUntil { try keyed.run(key, look).status == .exited(0) })
      let healthy = try keyed.run(key, look)
      #expect(healthy.output.contains("answers at \(keyed.broker.bus)"), "\(healthy.output)")
      let without = try Program.run(look + ["--bus", keyed.broker.bus])
      #expect(without.status == .exited(1))
      #expect(without.output.contains("give --curve-key FILE"), "\(without.output)")
      try keyed.keys(["revoke", "doctor"])
      #expect(try waitUntil { try keyed.run(key, look).output.contains("DENIED") })
    }

    @Test func `a key can be authorised before the broker's first start`() throws {
      let folder = try TemporaryFolder()
      let key = folder.file("early.key")
      #expect(try Program.run(["keys", "generate", key]).status == .exited(0))
      let data = folder.file("data")
      let run = try Program.run([
        "keys", "authorize", key + ".pub", "--subscribe", "*", "--data", data,
      ])
      #expect(run.status == .exited(0), "\(run.errors)")
      let mode = try FileManager.default.attributesOfItem(atPath: data)[.posixPermissions]
      #expect(mode as? Int == 0o700)
    }

    @Test func `without a key a command says what it needs`() throws {
      let keyed = try Keyed()
      for command in [["status"], ["publish", "--event", "A"], ["tail", "--until-end"]] {
        let run = try Program.run(command + ["--bus", keyed.broker.bus])
        #expect(run.status == .exited(1))
        #expect(run.errors.contains("--curve-key FILE"), "\(run.errors)")
      }
      let half = try Program.run(["status", "--server-key", keyed.server])
      #expect(half.status == .exited(2) && half.errors.contains("--curve-key"))
    }

    @Test func `a secret that others may read is refused, with what to do`() throws {
      let keyed = try Keyed()
      let key = try keyed.generate("shop")
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: key)
      let run = try keyed.run(key, ["status"])
      #expect(run.status == .exited(2))
      #expect(run.errors.contains("chmod 600 \(key)"), "\(run.errors)")
      for (option, command) in [("write-key-file", "collector"), ("write-key-file", "segment")] {
        let run = try Program.run([command, "--\(option)", key])
        #expect(run.status == .exited(2))
        #expect(run.errors.contains("--\(option): \(key) is open to others"), "\(run.errors)")
      }
      keyed.broker.kill()
      let table = keyed.data + "/broker.key"
      try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: table)
      let broker = try Program.run(["broker", "--curve", "--port-base", "0", "--data", keyed.data])
      #expect(broker.status == .exited(1))
      #expect(broker.errors.contains("chmod 600 \(table)"), "\(broker.errors)")
    }

    @Test func `keys and files of the broker are for its owner alone`() throws {
      let keyed = try Keyed()
      let key = try keyed.generate("shop")
      try keyed.keys(["authorize", key, "--publish", "*"])
      for path in [key, keyed.data + "/keys", keyed.data + "/broker.key"] {
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
        #expect(mode as? Int == 0o600, "\(path)")
      }
      let secret = try #require(
        String(contentsOfFile: key, encoding: .utf8).split(separator: "\"").dropLast().last)
      #expect(secret.count == 40)
      let log = keyed.broker.process.errorOutput.text
      #expect(!log.contains(secret))
    }

    @Test func `a broker restarted under the same keys is the same to its clients`() throws {
      let keyed = try Keyed(["--durability", "os"])
      let key = try keyed.generate("shop")
      try keyed.keys(["authorize", key, "--publish", "*", "--subscribe", "*"])
      #expect(
        try waitUntil { try keyed.run(key, ["publish", "--event", "A"]).status == .exited(0) })
      let server = keyed.broker.addresses["serverKey"]
      keyed.broker.kill()
      try keyed.broker.start()
      #expect(keyed.broker.addresses["serverKey"] == server)
      #expect(try keyed.run(key, ["publish", "--event", "A"]).status == .exited(0))
    }

    @Test(arguments: [
      ["broker", "--bind", "0.0.0.0"], ["broker", "--metrics", "0.0.0.0:0"],
      ["broker", "--bind", "127.evil.example"],
      ["collector", "--listen", "0.0.0.0:0"], ["archiver", "--dir", "x", "--metrics", "[::]:0"],
    ])
    func `what other machines reach needs keys or a word`(command: [String]) throws {
      let folder = try TemporaryFolder()
      let run = try Program.run(
        command + ["--port-base", "0", "--data", folder.file("data")])
      #expect(run.status == .exited(2))
      #expect(
        run.errors.contains("other machines") || run.errors.contains("--write-key"),
        "\(run.errors)")
    }

    @Test func `what other machines reach runs with keys, or as insecure`() throws {
      for option in ["--curve", "--insecure"] {
        let broker = try TestBroker(["--bind", "0.0.0.0", option])
        #expect(broker.bus.hasPrefix("tcp://0.0.0.0:"))
      }
    }

    @Test(.enabled(if: PythonPeer.isThere, "needs python3 with zmq and msgpack"))
    func `a program in Python reads and publishes with a key`() throws {
      let keyed = try Keyed()
      let key = try keyed.generate("ann")
      try keyed.keys(["authorize", key, "--publish", "*", "--subscribe", "Game *"])
      let run = try ChildProcess.run(
        "/usr/bin/python3",
        [
          "-c", Self.python, key, keyed.server, keyed.broker.addresses["live"] ?? "",
          keyed.broker.addresses["push"] ?? "",
        ], limit: .seconds(60))
      #expect(run.0 == .exited(0), "\(String(decoding: run.2, as: UTF8.self))")
      #expect(String(decoding: run.1, as: UTF8.self) == "Game Ended 21\n")
    }

    /// The README's lines, with an end.
    private static let python = """
      import json, sys, msgpack, zmq, zmq.auth
      key, server, live, push = sys.argv[1:]

      def protect(socket):
          socket.curve_publickey, socket.curve_secretkey = zmq.auth.load_certificate(key)
          socket.curve_serverkey, _ = zmq.auth.load_certificate(server)
          return socket

      context = zmq.Context()
      reader = protect(context.socket(zmq.SUB))
      reader.connect(live)
      reader.subscribe(b"Game Ended\\0")
      reader.subscribe(b"$HEAD/Game Ended\\0")
      writer = protect(context.socket(zmq.PUSH))
      writer.connect(push)
      reader.rcvtimeo = 20000
      reader.recv_multipart()  # the beacon: from now on nothing is missed
      writer.send_multipart([b"Game Ended", json.dumps({"value": 21}).encode()])
      while True:
          topic, payload, meta = reader.recv_multipart()
          if topic.startswith(b"Game"):
              print(topic[:-1].decode(), msgpack.unpackb(payload)["properties"]["value"])
              break
      """
  }
}
