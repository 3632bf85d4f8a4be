import Foundation
import Primitives
import TestSupport
import Testing

extension IntegrationTests {
  /// Programs of others, as people use them.
  @Suite struct CollectorPeerTests {
    @Test(.enabled(if: ClientLibraries.has("segment.analytics")))
    func `everything that Segment's library sends arrives`() throws {
      let stored = try run(
        """
        import segment.analytics as analytics
        analytics.write_key = 'test-key'; analytics.host = sys.argv[1]; analytics.gzip = True
        analytics.on_error = lambda error, items: print('error', error, flush=True)
        for n in range(250): analytics.track('user-%d' % (n % 7), 'Played', {'n': n, 'name': 'Zoë'})
        analytics.identify('user-1', {'plan': 'pro'})
        analytics.page('user-1', 'Docs', 'Start', {'n': 1})
        analytics.screen('user-1', 'Game', 'Main', {'n': 1})
        analytics.group('user-1', 'team', {'size': 3})
        analytics.alias('old', 'user-1')
        analytics.shutdown()
        """)
      #expect(stored.names.count == 250)
      let numbers = stored.compactMap { $0["event"] == nil ? nil : $0["properties"]?["n"]?.int }
      #expect(numbers == Array(0..<250))
      #expect(
        stored.compactMap { $0["type"]?.text }.filter { $0 != "track" } == [
          "identify", "page", "screen", "group", "alias",
        ])
      #expect(Set(stored.messageIDs).count == 255)
      #expect(stored.allSatisfy { $0["context"]?["library"]?["name"] == .text("analytics-python") })
    }

    @Test(.enabled(if: ClientLibraries.has("rudderstack.analytics")))
    func `everything that RudderStack's library sends arrives`() throws {
      let stored = try run(
        """
        import rudderstack.analytics as analytics
        analytics.write_key = 'test-key'; analytics.dataPlaneUrl = sys.argv[1]
        analytics.on_error = lambda error, items: print('error', error, flush=True)
        for n in range(250): analytics.track('user-%d' % (n % 7), 'Played', {'n': n})
        analytics.identify('user-1', {'plan': 'pro'})
        analytics.shutdown()
        """)
      #expect(stored.compactMap { $0["properties"]?["n"]?.int } == Array(0..<250))
      #expect(stored.last?["type"] == .text("identify"))
      #expect(Set(stored.messageIDs).count == 251)
    }

    @Test(.enabled(if: ClientLibraries.has("mixpanel")))
    func `everything that Mixpanel's library sends arrives`() throws {
      let stored = try run(
        """
        import mixpanel
        urls = {name + '_url': sys.argv[1] + path for name, path in
                dict(events='/track', people='/engage', groups='/groups', **{'import': '/import'}).items()}
        one = mixpanel.Mixpanel('test-key', consumer=mixpanel.Consumer(**urls))
        many = mixpanel.Mixpanel('test-key', consumer=mixpanel.BufferedConsumer(**urls))
        for n in range(20): one.track('user-1', 'Played', {'n': n})
        for n in range(20, 240): many.track('user-1', 'Played', {'n': n})
        many._consumer.flush()
        one.import_data('key', 'user-1', 'Old', 1200000000, {'n': 0}, api_secret='test-key')
        one.people_set('user-1', {'plan': 'pro'})
        one.group_set('company', 'c-1', {'size': 3})
        """)
      let played = stored.filter { $0["event"] == .text("Played") }
      #expect(played.compactMap { $0["properties"]?["n"]?.int } == Array(0..<240))
      #expect(Set(stored.messageIDs).count == 243)
      let old = stored.first { $0["event"] == .text("Old") }
      #expect(old?["timestamp"] == .text("2008-01-10T21:20:00.000Z"))
      #expect(stored.compactMap { $0["type"]?.text }.suffix(2) == ["identify", "group"])
    }

    /// Runs a program against a new collector; what is stored then.
    private func run(_ program: String) throws -> [JSONValue] {
      let broker = try TestBroker()
      let collector = try TestCollector(broker)
      let (status, output, errors) = try ChildProcess.run(
        ClientLibraries.python, ["-c", "import sys\n" + program, collector.url],
        environment: ["PYTHONPATH": ClientLibraries.folder, "no_proxy": "127.0.0.1"],
        limit: .seconds(60))
      #expect(status == .exited(0), "\(String(decoding: errors, as: UTF8.self))")
      #expect(output.isEmpty, "\(String(decoding: output, as: UTF8.self))")
      return try broker.stored()
    }

    @Test(.enabled(if: Certificate.canBeMade))
    func `with a certificate it speaks TLS`() throws {
      let broker = try TestBroker()
      let folder = try TemporaryFolder()
      let (certificate, key) = (folder.file("certificate.pem"), folder.file("key.pem"))
      try Certificate.make(certificate, key: key)
      let wrong = try Program.run([
        "collector", "--listen", "127.0.0.1:0", "--tls-certificate", key, "--tls-key", key,
      ])
      #expect(wrong.status == .exited(1) && wrong.errors.contains("TLS"), "\(wrong.errors)")
      let collector = try TestCollector(
        broker, ["--tls-certificate", certificate, "--tls-key", key])
      let run = try ChildProcess.run(
        "/usr/bin/python3",
        [
          "-c",
          """
          import http.client, ssl, sys
          context = ssl.create_default_context(cafile=sys.argv[2])
          for size in (10, 1000000):
              peer = http.client.HTTPSConnection('127.0.0.1', int(sys.argv[1]), context=context)
              body = '[{"event":"A","properties":{"n":%d}}]' % size + ' ' * size
              peer.request('POST', '/v1/events', body.encode())
              print(peer.getresponse().status)
          """, "\(collector.port)", certificate,
        ], limit: .seconds(30))
      #expect(run.status == .exited(0), "\(String(decoding: run.errorOutput, as: UTF8.self))")
      #expect(String(decoding: run.output, as: UTF8.self) == "200\n200\n")
      #expect(try broker.stored().names == ["A", "A"])
    }
  }
}

/// Libraries that the scripts install beside the build; without them their tests are skipped, and say so.
enum ClientLibraries {
  static let python = "/usr/bin/python3"

  static let folder = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent(".build/python-clients").path

  static func has(_ module: String) -> Bool {
    let run = try? ChildProcess.run(
      python, ["-c", "import \(module)"], environment: ["PYTHONPATH": folder])
    if run?.status == .exited(0) { return true }
    print("integration tests: no Python module \(module) (Deploy/test installs it); skipped")
    return false
  }
}

/// A certificate for 127.0.0.1 that vouches for itself, made by the openssl command.
enum Certificate {
  static let canBeMade: Bool = {
    let run = try? ChildProcess.run("openssl", ["version"])
    if run?.status == .exited(0) { return true }
    print("integration tests: no openssl command; what needs a certificate is skipped")
    return false
  }()

  static func make(_ certificate: String, key: String) throws {
    let run = try ChildProcess.run(
      "openssl",
      [
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
        "-keyout", key, "-out", certificate, "-days", "2", "-subj", "/CN=localhost", "-addext",
        "subjectAltName=IP:127.0.0.1",
      ])
    try #require(run.status == .exited(0), "\(String(decoding: run.errorOutput, as: UTF8.self))")
  }
}
