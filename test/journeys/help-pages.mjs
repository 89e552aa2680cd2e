import { parentPort, workerData } from 'node:worker_threads';

// Texts are made while modules load, so each language loads them in a thread of its own.

const { setLanguage } = await import('../../dist/src/base/message.js');
setLanguage(workerData);
const { buildWholeProgram } = await import('../../dist/src/cli/program.js');

let written = '';
const stdout = {
  columns: 120,
  write(text) {
    written += String(text);
    return true;
  },
};
/** @type {Map<string, string[]>} */
const pages = new Map();
const visit = (command, words) => {
  written = '';
  command.outputHelp();
  pages.set(words.join(' '), written.split('\n'));
  for (const child of command.commands) visit(child, [...words, child.name()]);
};
visit(await buildWholeProgram({ stdout, stderr: stdout }), ['pas']);
parentPort.postMessage(pages);
