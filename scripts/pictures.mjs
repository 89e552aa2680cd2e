#!/usr/bin/env node
/**
 * Makes the pictures of the README and of docs again: a terminal session with the mock server, as
 * it is printed, the report of that session, and the page of the mock server. `npm run pictures`
 * needs Chromium for the last two; with --check it compares the sessions with their pictures.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PAS = join(ROOT, 'bin', 'pas.js');
const CHROMIUM = '/usr/bin/chromium';
const PICTURES = join(ROOT, 'docs', 'pictures');

const HEADER =
  'local_id;projekt;stav;druh_nalezu;specifikace;obdobi;okolnosti;hloubka;datum_nalezu;nalezce;lokalizace;geom_system;geom_x;geom_y;pristupnost;photos';
const BEHIND_THE_MILL = 'Všesoky, pole za mlýnem;4326;15,17120;49,84050;badatel';
const AT_THE_FORD = 'Louka u brodu;4326;15,17334;49,84161;badatel';
/** A table with two mistakes: a period that does not exist, and half a centimetre. */
const TABLE = [
  HEADER,
  `101;C-202400101;2;zlomek nádoby;keramika;doba bronzová;sběr;0;2024-03-09;OS-001507;${BEHIND_THE_MILL};101.jpg`,
  `102;C-202400101;2;zlomek nádoby;keramika;doba bronzvá;sběr;5;2024-03-09;OS-001507;${BEHIND_THE_MILL};`,
  `103;C-202400101;2;zlomek nádoby;keramika;doba bronzová;sběr;12,5;2024-03-10;OS-001507;${AT_THE_FORD};`,
  `104;C-202400101;2;zlomek nádoby;keramika;doba bronzová;sběr;20;2024-03-10;OS-001507;${AT_THE_FORD};104.jpg`,
];
/** The same, with the mistakes corrected in it. */
const CORRECTED = TABLE.map((row) =>
  row.replace('doba bronzvá', 'doba bronzová').replace(';12,5;', ';12;'),
);

/**
 * Plays a session with the mock server in a folder of its own.
 * @param {string} language
 * @param {(page: { report: string, mock: string }) => void} [show] called at its end with the
 *   address of the report and of the mock server's page
 * @returns {Promise<{ command: string, output: string }[]>}
 */
async function playSession(language, show) {
  const folder = mkdtempSync(join(tmpdir(), 'pas-pictures-'));
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    PAS_HOME: join(folder, 'home'),
    PAS_STATE: join(folder, 'state'),
    PAS_LANG: language,
    PAS_PASSWORD: 'archaeologist',
  };
  const mock = spawn(process.execPath, [PAS, 'mock-server', '--json'], { env });
  try {
    const [line] = await once(createInterface(mock.stdout), 'line');
    const { base_url: address, control_url: control } = JSON.parse(line);
    const run = (command) => {
      const shell = `{ pas() { "$NODE" "$PAS" "$@"; }; ${command}; } 2>&1`;
      const options = { cwd: folder, env: { ...env, NODE: process.execPath, PAS } };
      const output = execFileSync('bash', ['-c', `${shell}; true`], {
        ...options,
        encoding: 'utf8',
      });
      return { command, output: withoutFigures(output.trimEnd()) };
    };
    const photos = join(ROOT, 'examples', 'photos');
    copyFileSync(join(photos, 'KH24-001.jpg'), join(folder, '101.jpg'));
    copyFileSync(join(photos, 'KH24-004.jpg'), join(folder, '104.jpg'));
    run(`pas init ${address} --username archaeologist && pas login && pas harvest-vocab`);
    writeFileSync(join(folder, 'finds.csv'), `${TABLE.join('\n')}\n`);
    const session = [run('pas import finds.csv')];
    writeFileSync(join(folder, 'finds.csv'), `${CORRECTED.join('\n')}\n`);
    session.push(
      run('pas import finds.csv'),
      run('pas validate'),
      run('pas push'),
      run('pas status'),
    );
    run('pas report season.html');
    show?.({ report: String(pathToFileURL(join(folder, 'season.html'))), mock: control });
    return session;
  } finally {
    mock.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Replaces what differs from run to run. */
function withoutFigures(output) {
  return output
    .replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, 'http://127.0.0.1:8099')
    .replaceAll(/\b\d+[.,]\d s\b/g, (text) => `1${text.includes(',') ? ',' : '.'}1 s`);
}

const COLUMNS = 100;
const LINE_HEIGHT = 19;
const CHARACTER_WIDTH = 8.43;
const MARGIN = 18;

/**
 * Draws a session as the picture of a terminal, whose text is text.
 * @param {readonly { command: string, output: string }[]} session
 * @returns {string} SVG
 */
function drawSession(session) {
  const lines = session.flatMap(({ command, output }) => [
    { kind: 'command', text: `$ ${command}` },
    ...output.split('\n').flatMap(drawLine),
    { kind: 'plain', text: '' },
  ]);
  const width = Math.ceil(COLUMNS * CHARACTER_WIDTH + 2 * MARGIN);
  const height = lines.length * LINE_HEIGHT + 2 * MARGIN;
  const drawn = lines.flatMap(({ kind, text }, index) =>
    text === ''
      ? []
      : [
          `<text class="${kind}" x="${MARGIN}" y="${MARGIN + 14 + index * LINE_HEIGHT}">${escapeXml(text)}</text>`,
        ],
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">
<title>pas import, pas validate, pas push, pas status</title>
<style>
rect { fill: #1b1f24 }
text { font: 14px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; fill: #d7dde3; white-space: pre }
.command { fill: #ffffff; font-weight: bold }
.error { fill: #ff9a8b }
.next { fill: #8fd0ff }
</style>
<rect width="${width}" height="${height}" rx="8"/>
${drawn.join('\n')}
</svg>
`;
}

/** Breaks a line between words. */
function drawLine(line) {
  const rows = line.match(new RegExp(`.{1,${COLUMNS}}(?= |$)`, 'gu')) ?? [''];
  return rows.map((text) => ({
    kind: chooseKind(line),
    text: rows.length === 1 ? text : text.trim(),
  }));
}

function chooseKind(text) {
  if (/^(?:Next|Dále|Další):|^ {2}pas /.test(text)) return 'next';
  return text.startsWith('✗') ? 'error' : 'plain';
}

function escapeXml(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function photographPage(address, name, size) {
  execFileSync(
    CHROMIUM,
    [
      '--headless',
      '--no-sandbox',
      '--hide-scrollbars',
      '--virtual-time-budget=4000',
      `--window-size=${size}`,
      `--screenshot=${join(PICTURES, name)}`,
      address,
    ],
    { stdio: 'ignore' },
  );
}

for (const language of ['en', 'cs']) {
  const isCheck = process.argv.includes('--check');
  const session = await playSession(language, ({ report, mock }) => {
    if (language !== 'en' || isCheck) return;
    photographPage(report, 'report.png', '1000,760');
    photographPage(mock, 'mock-page.png', '1000,620');
  });
  const path = join(PICTURES, language === 'en' ? 'session.svg' : `session-${language}.svg`);
  const drawn = drawSession(session);
  if (!isCheck) writeFileSync(path, drawn);
  else if (readFileSync(path, 'utf8') !== drawn) {
    console.error(
      `${path} shows what is no longer printed; npm run pictures makes it again.\n${drawn}`,
    );
    process.exitCode = 1;
  }
}
