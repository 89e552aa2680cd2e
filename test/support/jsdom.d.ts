/** As much of jsdom as tests use: its own types need those of a browser. */
declare module 'jsdom' {
  export type Selectable = {
    querySelector(selectors: string): JsdomElement | null;
    querySelectorAll(selectors: string): Iterable<JsdomElement>;
  };
  export type JsdomElement = Selectable & {
    readonly id: string;
    readonly localName: string;
    readonly textContent: string;
    readonly children: Iterable<JsdomElement> & { readonly length: number };
    getAttribute(name: string): string | null;
    closest(selectors: string): JsdomElement | null;
  };
  export type JsdomDocument = Selectable & { readonly documentElement: JsdomElement };
  export class JSDOM {
    constructor(text: string, options?: { readonly url?: string; readonly contentType?: string });
    readonly window: Readonly<Record<string, unknown>> & { readonly document: JsdomDocument };
  }
}
