import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { admin } from './admin-request.js';
import { openPage, type Started, skip, startEmulator } from './browser.js';
import { command } from './command.js';
import { makeRepository } from './git.js';

t.setTimeout(120_000);

/**
 * Starts an emulator with a repository that has one pushed commit. Returns the emulator, and functions that create and
 * push more commits.
 */
async function startPushed(t: Test) {
  const emulator = await startEmulator(t);
  const clone = await makeRepository(t, emulator, 'team/app');
  const commit = async (text: string) => {
    await writeFile(join(clone.folder, 'a.txt'), text);
    await clone.git(['add', '.']);
    await clone.git(['commit', '--quiet', '-m', text]);
    return clone.git(['rev-parse', 'HEAD']);
  };
  const push = (...refs: string[]) => clone.git(['push', '--quiet', clone.remote(), ...refs]);
  await commit('one');
  await push('main');
  return { emulator, clone, commit, push };
}

/**
 * Error of Git if the response to a push is lost. The text must not contain `rejected`. Git prints this word if libcurl
 * retried the request and the second request got a response.
 */
const HUNG_UP = { message: /^(?!.*rejected).*hung up/s };

async function lastPush(emulator: Started): Promise<string> {
  const { items } = await admin(emulator, 'GET', 'requests?operation=gitReceivePack');
  return items.at(-1).id;
}

async function tipOf(emulator: Started, branch: string): Promise<string | undefined> {
  const { items } = await admin(emulator, 'GET', 'repositories/team%2Fapp/refs');
  return items.find(({ name }: { name: string }) => name === `refs/heads/${branch}`)?.oid;
}

t.test('a push whose response is lost fails in Git, though its refs have moved', { skip }, async (t) => {
  const { emulator, commit, push } = await startPushed(t);
  const id = await lastPush(emulator);
  const { page, complaints } = await openPage(t, emulator, { at: `#/requests?id=${id}` });
  await page.getByRole('button', { name: 'Make this fail next time' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Fault', { exact: true }).selectOption('lost');
  await dialog.getByRole('button', { name: 'Add the fault' }).click();
  await dialog.getByText('lost*2@git.report;how=fin;match.op=gitReceivePack').first().waitFor();
  const second = await commit('two');
  await t.rejects(push('main'), HUNG_UP, 'Git notices');
  t.equal(await tipOf(emulator, 'main'), second, 'the effect was made');

  t.equal((await admin(emulator, 'GET', 'faults')).items[0].remaining, 0, 'nothing is left for the next push');

  // This link opens the form for a new fault, with operation and fault filled in. The form must choose the same default
  // stage as the command line. A stage is the point of the request at which the fault acts.
  await page.goto(`${emulator.admin_url}/#/faults?operation=gitReceivePack&fault=lost`);
  await page.getByRole('button', { name: 'Add the fault' }).click();
  await page.getByRole('heading', { name: 'fault-2' }).waitFor();
  const armed = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'fault-2' }) });
  await armed.getByText('lost*2@git.report').waitFor();
  const third = await commit('three');
  await t.rejects(push('main'), HUNG_UP, 'Git notices');
  t.equal(await tipOf(emulator, 'main'), third);
  t.same(complaints, []);
});

t.test('the git command that repeats a push has the same effect', { skip }, async (t) => {
  const { emulator, clone, commit, push } = await startPushed(t);
  await push('main:old');
  await admin(emulator, 'POST', 'faults', { spec: 'ng*1;ref=refs%2Fheads%2Fa%2426', match: { op: 'gitReceivePack' } });
  const second = await commit('two');
  await t.rejects(push('--atomic', 'main', 'main:a$26', ':old'));
  t.equal(await tipOf(emulator, 'a$26'), undefined);
  const { page, complaints } = await openPage(t, emulator, { at: `#/requests?id=${await lastPush(emulator)}` });
  await page.getByRole('button', { name: 'Copy as git push' }).click();
  await page.getByRole('button', { name: 'Insert a new token' }).click();
  const line = page.locator('.copy code');
  await line.getByText('TOKEN=eyJ').waitFor();
  const text = (await line.textContent())!;
  t.match(text, /\ngit push http:\/\/t:\$TOKEN@127\.0\.0\.1:\d+\/team\/app\.git \\/);
  t.notMatch(text, 'curl');
  await command(clone.folder, '/bin/sh', '-c', text);
  t.equal(await tipOf(emulator, 'a$26'), second);
  t.equal(await tipOf(emulator, 'main'), second);
  t.equal(await tipOf(emulator, 'old'), undefined, 'a removal is a removal');
  t.same(complaints, []);
});
