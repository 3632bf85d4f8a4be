import Analytics

func appLaunched(_ analytics: AnalyticsService) {
  analytics.setCommonProperties(["theme": "dark"])  // in every track and screen from now on
  analytics.applicationLaunched(version: "1.2", build: "34")  // Installed, Updated, Opened
}

func signedIn(_ user: String, _ analytics: AnalyticsService) {
  analytics.identify(user, traits: ["plan": "free"])
}

func signedOut(_ analytics: AnalyticsService) { analytics.reset() }

func trackingSwitched(on isOn: Bool, _ analytics: AnalyticsService) {
  if isOn { analytics.optIn() } else { analytics.optOut() }
}
