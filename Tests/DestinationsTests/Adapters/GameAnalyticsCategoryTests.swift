internal import DestinationTestSupport
internal import Destinations
internal import HTTPClient
internal import Primitives
internal import Testing

@Suite(.timeLimit(.minutes(5)))
struct GameAnalyticsCategoryTests {
  private static func event(_ options: String, properties: String = "{}") -> String {
    Sample.track(
      with: "\"properties\":\(properties),\"integrations\":{\"GameAnalytics\":{\(options)}}")
  }

  @Test(arguments: [
    (
      #""category":"business","event_id":"gold:pack","amount":499,"currency":"USD""#,
      #""category":"business","event_id":"gold:pack","amount":499,"currency":"USD","transaction_num":1,"#
    ),
    (
      #""category":"resource","event_id":"Source:gold:chest:daily","amount":2.5"#,
      #""category":"resource","event_id":"Source:gold:chest:daily","amount":2.5,"#
    ),
    (
      #""category":"progression","event_id":"Start:world:1","attempt_num":3"#,
      #""category":"progression","event_id":"Start:world:1","attempt_num":3,"#
    ),
    (
      #""category":"error","severity":"warning","message":"too late""#,
      #""category":"error","severity":"warning","message":"too late","#
    ),
    (#""category":"session_end","length":60"#, #""category":"session_end","length":60,"#),
    (#""category":"user""#, #""category":"user","v":2"#),
    (#""category":"design","event_id":"Own:Name""#, #""category":"design","event_id":"Own:Name","#),
  ])
  func `an event may ask for another category`(_ sample: (options: String, fields: String)) throws {
    let provider = FakeGameAnalytics()
    let fake = try FakeServer(provider)
    var adapter = GameAnalyticsAdapter(
      GameAnalyticsConfiguration(
        endpoint: try HTTPEndpoint(fake.url), gameKey: provider.gameKey,
        secretKey: Array(provider.secretKey.utf8)))
    let item = try adapter.item(Self.event(sample.options))
    #expect(item.contains(sample.fields), "\(item)")
    #expect(try FakeTests.send([Self.event(sample.options)], by: &adapter) == .delivered)
    #expect(fake.ledger.stored.count == 1 && fake.ledger.refused.isEmpty)
  }

  @Test func `its fields may stand in the properties, and are no custom fields then`() throws {
    var adapter = try GameAnalyticsAdapterTests.adapter()
    let item = try adapter.item(
      Self.event(
        #""category":"business","event_id":"gold:pack""#,
        properties: #"{"amount":499,"currency":"EUR","value":7,"shop":"main"}"#))
    #expect(item.contains(#""amount":499,"currency":"EUR""#), "\(item)")
    #expect(item.hasSuffix(#""custom_fields":{"value":7,"shop":"main"}}"#), "\(item)")
  }

  @Test(arguments: [
    (#""category":"business","event_id":"gold","amount":1,"currency":"USD""#, "event_id"),
    (#""category":"business","event_id":"a:b","amount":1.5,"currency":"USD""#, "amount"),
    (#""category":"business","event_id":"a:b","amount":1,"currency":"usd""#, "currency"),
    (#""category":"resource","event_id":"Flow:gold:a:b","amount":1"#, "event_id"),
    (#""category":"resource","event_id":"Sink:gold:a:b","amount":0"#, "amount"),
    (#""category":"progression","event_id":"Begin:world""#, "event_id"),
    (#""category":"progression","event_id":"Start:w","score":"high""#, "score"),
    (#""category":"error","severity":"bad""#, "severity"),
    (#""category":"session_end","length":-1"#, "length"),
    (#""category":"ads""#, "category"),
  ])
  func `what a category does not allow is refused by the field's name`(
    _ sample: (options: String, field: String)
  ) throws {
    var adapter = try GameAnalyticsAdapterTests.adapter()
    #expect(try adapter.refusal(Self.event(sample.options))?.contains(sample.field) == true)
  }
}
