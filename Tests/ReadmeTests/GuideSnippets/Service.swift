import Analytics

func makeAnalytics(collector: String, key: String, folder: String) throws -> AnalyticsService {
  let client = try AnalyticsClient(
    AnalyticsClientConfiguration(
      endpoint: collector + "/v1/events", writeKey: key, storePath: folder + "/queue.sqlite"))
  return try AnalyticsService(
    AnalyticsServiceConfiguration(storePath: folder + "/analytics.sqlite"), providers: [client])
}
