/** The shell: which screen is shown, one pane on a phone and two on a desk. */
import { lazy, type ReactElement, Suspense } from "react";
import { HomeScreen, useIsWide } from "../home/home-screen.tsx";
import { LinkDialogProvider } from "../markdown/link-dialog.tsx";
import { SessionScreen } from "../session/session-screen.tsx";
import { Icon } from "../ui/icon.tsx";
import { late } from "../ui/late.tsx";
import { ErrorBoundary } from "./error-boundary.tsx";
import { ServicesContext, useObservable, useServices } from "./hooks.ts";
import type { Route } from "./route.ts";
import type { Services } from "./services.ts";
import { Shortcuts } from "./shortcuts.tsx";
import { UpdateBanner } from "./update-banner.tsx";
import "./app.css";

const DevicesScreen = lazy(async () => ({ default: (await import("../devices/devices-screen.tsx")).DevicesScreen }));
const DiagnosticsScreen = lazy(async () => ({
  default: (await import("../diagnostics/diagnostics-screen.tsx")).DiagnosticsScreen,
}));
const FilesScreen = lazy(async () => ({ default: (await import("../files/files-screen.tsx")).FilesScreen }));
const NotificationsScreen = lazy(async () => ({
  default: (await import("../notifications/notifications-screen.tsx")).NotificationsScreen,
}));
const PairScreen = late(async () => (await import("../pair/pair-screen.tsx")).PairScreen);
const SettingsScreen = lazy(async () => ({ default: (await import("./settings-screen.tsx")).SettingsScreen }));

export function App({ services }: { readonly services: Services }): ReactElement {
  return (
    <ServicesContext value={services}>
      <ErrorBoundary>
        <LinkDialogProvider>
          <Gate />
          <Shortcuts />
          <UpdateBanner />
        </LinkDialogProvider>
      </ErrorBoundary>
    </ServicesContext>
  );
}

function Gate(): ReactElement {
  const { access, router } = useServices();
  const state = useObservable(access.access);
  const route = useObservable(router.route);
  if (route.screen === "pair") return <PairScreen code={route.code} wasRevoked={false} />;
  if (state.kind === "unpaired") return <PairScreen code={undefined} wasRevoked={state.wasRevoked} />;
  return <Panes route={route} />;
}

function Panes({ route }: { readonly route: Route }): ReactElement {
  const isWide = useIsWide();
  const currentId = route.screen === "session" || route.screen === "files" ? route.sessionId : undefined;
  if (!isWide) {
    return (
      <main className="pane-main">
        {route.screen === "home" ? <HomeScreen currentId={undefined} /> : <Screen route={route} />}
      </main>
    );
  }
  return (
    <div className="panes">
      <aside className="pane-list" aria-label="Sessions">
        <HomeScreen currentId={currentId} />
      </aside>
      <main className="pane-main">
        <Screen route={route} />
      </main>
    </div>
  );
}

function Screen({ route }: { readonly route: Route }): ReactElement {
  return <Suspense fallback={<div className="boot" aria-busy="true" />}>{screenOf(route)}</Suspense>;
}

function screenOf(route: Route): ReactElement {
  switch (route.screen) {
    case "session":
      return <SessionScreen sessionId={route.sessionId} instanceId={route.instanceId} />;
    case "files":
      return <FilesScreen {...route} />;
    case "devices":
      return <DevicesScreen />;
    case "notifications":
      return <NotificationsScreen />;
    case "diagnostics":
      return <DiagnosticsScreen />;
    case "settings":
      return <SettingsScreen />;
    case "home":
    case "pair":
      return (
        <div className="empty empty-pane">
          <Icon name="inbox" />
          <p>
            Choose a session on the left. <kbd>?</kbd> shows the keys.
          </p>
        </div>
      );
  }
}
