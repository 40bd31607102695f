cask "countersign" do
  version "{{.Version}}"
  sha256 "{{.SHA256}}"

  url "https://github.com/countersign-app/countersign/releases/download/v#{version}/Countersign-#{version}.zip"
  name "Countersign"
  desc "Asks you before an AI agent's command runs"
  homepage "https://github.com/countersign-app/countersign"

  depends_on macos: ">= :ventura"

  app "Countersign.app"
  binary "#{appdir}/Countersign.app/Contents/Helpers/countersign"

  uninstall launchctl: ["app.countersign.node", "app.countersign.gateway"],
            quit:      "app.countersign.Countersign"

  zap trash: "~/Library/Logs/Countersign"
end
