import { execFile, execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { JSDOM } from 'jsdom';
import { tempFolder } from '../support/temp-outbox.ts';

/** Forms converted by pyxform and filled in with ODK's own engine of forms. */

/** pyxform 4 as one program; it comes with the npm package cht-conf. */
const PYXFORM = 'xls2xform-medic';

/** In CI it may not be missing. */
export function hasPyxform(): boolean {
  if (process.env['CI'] !== undefined) return true;
  try {
    execFileSync(PYXFORM, ['--help'], {
      stdio: 'ignore',
      env: { ...process.env, SHIV_ROOT: tempFolder() },
    });
    return true;
  } catch {
    return false;
  }
}

/** The XForm of a workbook, and what pyxform has to say against it. */
export async function toXForm(
  workbook: string,
): Promise<{ readonly xml: string; readonly warnings: readonly string[] }> {
  const [unpacked, out] = [tempFolder(), join(tempFolder(), 'form.xml')];
  const run = promisify(execFile);
  const { stdout, stderr } = await run(PYXFORM, ['--skip_validate', '--json', workbook, out], {
    env: { ...process.env, SHIV_ROOT: unpacked, PYTHONIOENCODING: 'utf-8' },
  });
  const line = `${stdout}\n${stderr}`.split('\n').findLast((each) => each.startsWith('{')) ?? '{}';
  const result = JSON.parse(line) as { code: number; message: string; warnings: string[] };
  if (result.code > 199) throw new Error(`pyxform refuses the form: ${result.message}`);
  return { xml: readFileSync(out, 'utf8'), warnings: result.warnings };
}

/** Part of the engine's question that is used here. */
type EngineNode = {
  readonly nodeType: string;
  readonly valueType?: string;
  readonly validationState: {
    readonly violation?: {
      readonly message: { readonly asString: string };
      readonly condition: string;
    } | null;
  };
  readonly currentState: {
    readonly reference: string;
    readonly children?: readonly EngineNode[] | null;
    readonly required: boolean;
    readonly relevant: boolean;
    readonly label?: { readonly asString: string } | null;
    readonly value: unknown;
    readonly instanceValue?: unknown;
    readonly valueOptions?: readonly {
      readonly value: string;
      readonly label: { readonly asString: string };
    }[];
  };
  selectValue(value: string): void;
  setValue(value: unknown): void;
  addInstances(): void;
};

type EngineRoot = EngineNode & {
  readonly languages: readonly { readonly language?: string }[];
  setLanguage(language: unknown): void;
  prepareInstancePayload(options: { payloadType: 'monolithic' }): Promise<{
    readonly status: string;
    readonly violations: readonly { readonly reference: string }[] | null;
    readonly data: readonly FormData[];
  }>;
};

export type OpenForm = {
  readonly root: EngineRoot;
  /** By path without the form's own name, such as `find/hloubka`. */
  question(path: string): EngineNode;
  answer(path: string, value: string): void;
  addPhotograph(name: string, bytes: Buffer): void;
  getViolation(path: string): string | undefined;
  /** The submission as it would be sent; throws where the form is not filled in as it demands. */
  submit(): Promise<Submission>;
};

export type Submission = { readonly xml: string; readonly files: ReadonlyMap<string, Buffer> };

type LoadedForm = { readonly status: string; createInstance(): { readonly root: EngineRoot } };

type Engine = {
  loadForm(
    xml: string,
    options: {
      missingResourceBehavior: unknown;
      fetchFormAttachment: (resource: unknown) => Promise<Response>;
    },
  ): Promise<LoadedForm>;
  readonly constants: { readonly MISSING_RESOURCE_BEHAVIOR: { readonly BLANK: unknown } };
};

let engine: Promise<Engine> | undefined;

/** The engine wants a browser around it, and the folder that its parser of expressions lies in. */
async function loadEngine(): Promise<Engine> {
  const { window } = new JSDOM('<!doctype html>', { url: 'http://localhost/' });
  const names = [
    'document',
    'DOMParser',
    'XMLSerializer',
    'Node',
    'Element',
    'Document',
    'XMLDocument',
    'Attr',
    'Text',
  ];
  const more = [
    'CDATASection',
    'Comment',
    'NodeFilter',
    'XPathResult',
    'ProcessingInstruction',
    'CharacterData',
    'localStorage',
  ];
  const around = Object.fromEntries([...names, ...more].map((name) => [name, window[name]]));
  const require = createRequire(import.meta.url);
  const entry = require.resolve('@getodk/xforms-engine');
  for (const [name, value] of Object.entries({
    ...around,
    window,
    require,
    __dirname: dirname(entry),
  })) {
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  }
  return (await import('@getodk/xforms-engine')) as unknown as Engine;
}

/**
 * A form as a phone has it; each call of what it returns begins a new find.
 *
 * @param lists folder of the form's CSV files
 */
export async function loadForm(xml: string, lists: string): Promise<() => OpenForm> {
  engine ??= loadEngine();
  const { loadForm: load, constants } = await engine;
  const fetchFormAttachment = async (resource: unknown): Promise<Response> => {
    try {
      const text = readFileSync(join(lists, basename(String(resource))), 'utf8');
      return new Response(text, { headers: { 'content-type': 'text/csv' } });
    } catch {
      return new Response('', { status: 404 });
    }
  };
  const form = await load(xml, {
    missingResourceBehavior: constants.MISSING_RESOURCE_BEHAVIOR.BLANK,
    fetchFormAttachment,
  });
  if (form.status !== 'success')
    throw new Error(`the engine does not load the form: ${form.status}`);
  return () => openNew(form.createInstance().root);
}

function openNew(root: EngineRoot): OpenForm {
  const nodes = (): Map<string, EngineNode> => {
    const found = new Map<string, EngineNode>();
    const walk = (node: EngineNode): void => {
      found.set(node.currentState.reference.replace(/^\/data\//, ''), node);
      for (const child of node.currentState.children ?? []) walk(child);
    };
    walk(root);
    return found;
  };
  let known = nodes();
  const question = (path: string): EngineNode => {
    if (!known.has(path)) known = nodes();
    const node = known.get(path);
    if (node === undefined)
      throw new Error(`the form has no ${path}: ${[...known.keys()].join(', ')}`);
    return node;
  };
  let photographs = 0;
  return {
    root,
    question,
    answer(path, value) {
      const node = question(path);
      if (node.nodeType === 'select') node.selectValue(value);
      else node.setValue(value);
    },
    addPhotograph(name, bytes) {
      photographs += 1;
      if (photographs > 1) question('more/photos').addInstances();
      question(`more/photos[${photographs}]/photo`).setValue(
        new File([new Uint8Array(bytes)], name, { type: 'image/png' }),
      );
    },
    getViolation: (path) => question(path).validationState.violation?.message.asString,
    async submit() {
      const payload = await root.prepareInstancePayload({ payloadType: 'monolithic' });
      if (payload.status !== 'ready') {
        throw new Error(
          `not filled in: ${(payload.violations ?? []).map(({ reference }) => reference).join(', ')}`,
        );
      }
      const files = new Map<string, Buffer>();
      let submitted = '';
      for (const data of payload.data) {
        for (const [name, value] of data.entries()) {
          if (typeof value === 'string') continue;
          const bytes = Buffer.from(await value.arrayBuffer());
          if (name === 'xml_submission_file') submitted = bytes.toString('utf8');
          else files.set(name, bytes);
        }
      }
      return { xml: submitted, files };
    },
  };
}
