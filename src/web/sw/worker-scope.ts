/** The part of a service worker's scope that is used. TypeScript's own types of it and of the page exclude each other. */

interface WaitableEvent {
  waitUntil(work: Promise<unknown>): void;
}

export interface PushEventLike extends WaitableEvent {
  readonly data: { json(): unknown } | null;
}

interface FetchEventLike {
  readonly request: Request;
  respondWith(response: Promise<Response>): void;
}

interface NotificationEventLike extends WaitableEvent {
  readonly notification: Notification;
}

interface WindowClientLike {
  focus(): Promise<unknown>;
  postMessage(message: string): void;
}

interface WorkerEvents {
  install: WaitableEvent;
  activate: WaitableEvent;
  message: { readonly data: unknown };
  fetch: FetchEventLike;
  push: PushEventLike;
  notificationclick: NotificationEventLike;
}

export interface WorkerScope {
  readonly location: Location;
  readonly registration: ServiceWorkerRegistration;
  readonly clients: {
    claim(): Promise<void>;
    matchAll(options: {
      readonly type: "window";
      readonly includeUncontrolled: boolean;
    }): Promise<readonly WindowClientLike[]>;
    openWindow(url: string): Promise<unknown>;
  };
  skipWaiting(): Promise<void>;
  addEventListener<Name extends keyof WorkerEvents>(name: Name, listener: (event: WorkerEvents[Name]) => void): void;
}
