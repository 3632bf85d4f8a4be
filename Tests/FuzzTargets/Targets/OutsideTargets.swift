// What comes from other programs beside events.
//
//   endpoint     an address to send to; its text is the same address, and names no one else
//   dashboard    [token of a form][newline][header: value]...: without the token nobody is let in
//   plan-feed    [properties of $plan as JSON, parted by newlines]: the plan that counts is whole, and its
//                version never falls
//   worker       [kind u8][what a worker of `bench` leaves]: what reads is written as what reads the same
//   environment  [NAME=value, parted by newlines]: an error names a variable that is there
//   curve-key    a key file; a pair that reads belongs together
internal import BusTransport
internal import Dashboard
internal import EventCodec
internal import EventModel
internal import HTTPClient
internal import HTTPServer
internal import LoadTest
internal import Primitives
internal import ServiceRuntime
internal import TrackingPlan

let outsideTargets = [
  FuzzTarget(
    "endpoint",
    seeds: [
      "https://api.segment.io/v1/batch", "http://[::1]:8080/a?b=c", "HTTP://127.0.0.1:1//",
      "http://u:p@h/", "https://h:70000",
    ], run: readEndpoint),
  FuzzTarget(
    "dashboard",
    seeds: [
      "token=guess\nAuthorization: Bearer guess\nCookie: a=b; eventbus-7420=00",
      "a=b&token=%74est+\nHost: [::1]:7420", "token=%\nhost: x\nCookie: eventbus-7420",
    ], run: enter),
  FuzzTarget("plan-feed", seeds: planPieces, run: feedPlans),
  FuzzTarget("worker", seeds: workerResults, run: readWorker),
  FuzzTarget(
    "environment",
    seeds: [
      "EVENTBUS_SIZE=3MiB\nEVENTBUS_QUICK=1", "EVENTBUS_LEVEL=high\nEVENTBUS_QUICK=no",
      "EVENTBUS_WHERE=a,b\nEVENTBUS_SIZE=x", "EVENTBUS_LEVEL=none",
    ], run: readEnvironment),
  FuzzTarget("curve-key", seeds: keyFiles, run: readKeyFile),
]

private func readEndpoint(_ input: [UInt8]) throws(Violation) {
  guard
    case .success(let endpoint) = answer({ () throws(HTTPEndpointError) in
      try HTTPEndpoint(input.text)
    })
  else { return }
  let again = try accepted("\(endpoint)") { () throws(HTTPEndpointError) in
    try HTTPEndpoint("\(endpoint)")
  }
  try require(again == endpoint, "\(input.text) became \(again)")
  try require(!"\(endpoint)".contains("@") || endpoint.host.contains("@") == false, "\(endpoint)")
  let longer = endpoint.url("/v1/batch", query: "a=b")
  try require(longer.hasPrefix(endpoint.base + "/v1/batch?a=b"), longer)
}

private let token = "s3cret-t0ken-of-the-test"
private let guarded = DashboardAccess(token: token, host: "0.0.0.0", port: 7420)
private let unguarded = DashboardAccess(token: nil, host: "127.0.0.1", port: 7420)

private func enter(_ input: [UInt8]) throws(Violation) {
  let (form, head) = input.parted(at: 0x0A)
  let headers = head.split(separator: 0x0A).prefix(32).map { line in
    let (name, value) = Array(line).parted(at: UInt8(ascii: ":"))
    return HTTPRequest.Field(name.text, value.drop { $0 == 0x20 }.map { $0 }.text)
  }
  for path in ["/", "/api/reports", "/events"] {
    let request = HTTPRequest(method: "GET", path: path, headers: headers, body: [])
    _ = unguarded.answer(request)
    if guarded.answer(request) == nil {
      try require(head.text.contains(token), "let in by \(head.text)")
    }
  }
  let login = guarded.answer(
    HTTPRequest(method: "POST", path: "/login", headers: headers, body: form))
  let isIn = login?.headers.contains { $0.name == "Set-Cookie" } ?? true
  // An escaped token is one too: only what holds none of it proves anything.
  if isIn { try require(form.contains(UInt8(ascii: "3")), "logged in by \(form.text)") }
}

private let planPieces: [[UInt8]] = {
  let text = ##"{"version": 2, "collection": {"exclude": {"paths": ["#tap:#UIButton#..."]}}}"##
  let plan = answer { () throws(PlanError) in
    try PublishedPlan(PlanDocument(parsing: Array(text.utf8)))
  }
  guard case .success(let plan) = plan else { return [] }
  let piece: PropertyObject = [
    "version": 2, "tag": .string(plan.tag), "part": 1, "parts": 1, "text": .string(plan.bytes.text),
  ]
  var writer = PropertyWriter()
  writer.write(.object(piece))
  let line =
    (try? answer { () throws(CodecError) in try canonical(value: writer.output.bytes) }.get()) ?? []
  let halves =
    #"{"tag":"9-00000000","part":1,"parts":2,"text":"{\"version\""}"# + "\n"
    + #"{"tag":"9-00000000","part":2,"parts":2,"text":": 9}"}"#
  return [line, line + [0x0A] + line, Array(halves.utf8)]
}()

private func feedPlans(_ input: [UInt8]) throws(Violation) {
  var feed = PlanFeed()
  var version = -1
  for line in input.split(separator: 0x0A).prefix(64) {
    let value = answer { () throws(CodecError) in
      try PropertyValue(json: unsafe Array(line).span.bytes)
    }
    guard case .success(let value) = value else { continue }
    _ = feed.take(value.objectValue)
    guard let current = feed.current else { continue }
    let now = current.document.version
    try require(now >= version, "version \(now) after \(version)")
    version = now
    try require(current.tag.hasPrefix("\(now)-"), current.tag)
  }
}

private let workerResults: [[UInt8]] = {
  var producer = ProducerResult()
  producer.tally.published = 3
  producer.lateness.record(1_000_000)
  var subscriber = SubscriberResult(producers: 2)
  subscriber.latencies.record(5)
  return [[0] + producer.bytes, [1] + subscriber.bytes]
}()

private func readWorker(_ input: [UInt8]) throws(Violation) {
  let (kind, bytes) = input.chosen
  func written(_ bytes: [UInt8]) throws(MessagePackError) -> [UInt8] {
    kind & 1 == 0
      ? try ProducerResult(unsafe bytes.span.bytes).bytes
      : try SubscriberResult(unsafe bytes.span.bytes).bytes
  }
  guard case .success(let once) = answer({ () throws(MessagePackError) in try written(bytes) })
  else { return }
  let twice = try accepted("what was written") { () throws(MessagePackError) in
    try written(once)
  }
  try require(once == twice, "\(once) became \(twice)")
}

private func readEnvironment(_ input: [UInt8]) throws(Violation) {
  var environment: [String: String] = [:]
  for line in input.split(separator: 0x0A).prefix(32) {
    let (name, value) = Array(line).parted(at: UInt8(ascii: "="))
    environment[name.text] = value.text
  }
  let request = answer { () throws(UsageError) in
    try sampleParser.parse(["run", "file"], environment: environment)
  }
  switch request {
  case .success(.run(let arguments)):
    _ = answer { () throws(UsageError) in try arguments.optional("size", as: ByteSize.self) }
    _ = arguments.texts("where")
  case .success(.show): throw Violation(description: "the environment asked for help")
  case .failure(let error):
    let text = "\(error)"
    try require(
      environment.keys.contains { text.contains($0) } || text.contains("--"), "names none: \(text)")
  }
}

private let keyFiles: [[UInt8]] = {
  let file = """
    # a key
    metadata
        name = "shop"
    curve
        public-key = "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID"
        secret-key = "D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOTJ%JR%cs"

    """
  return [Array(file.utf8), Array("public-key = \"short\"".utf8)]
}()

private func readKeyFile(_ input: [UInt8]) throws(Violation) {
  try accepted("the scratch file") { () throws(SystemError) in try Scratch.write("key", input) }
  let path = Scratch.folder + "/key"
  let pair = answer { () throws(CurveKeyFile.Failure) in try CurveKeyFile.pair(path) }
  let open = answer { () throws(CurveKeyFile.Failure) in try CurveKeyFile.publicKey(path) }
  guard case .success(let pair) = pair, case .success(let open) = open else { return }
  try require("\(pair.publicKey)" == "\(open)", "\(open) is not of \(pair.publicKey)")
}
