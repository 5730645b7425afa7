import { Chance } from '../helpers/chance';
import {
	chargedTwice,
	type Report,
	withoutEnd,
	withoutExecution,
} from '../helpers/drill/invariants';
import { makePlan } from '../helpers/drill/plan';

const charge = (name: string, status = 'paid') => ({
	hash: `of ${name}`,
	payment_status: status,
	customer: { name },
});
const report = (hash: string, more: Partial<Report> = {}): Report => ({
	hash,
	payment_status: 'paid',
	...more,
});

test('an identity counts as charged twice, unless only one of its charges can be paid', () => {
	const charges = [charge('o1'), charge('o2'), charge('o2', 'expired'), charge('p1')];

	expect(chargedTwice(charges)).toEqual([]);
	expect(chargedTwice([...charges, charge('o1', 'waiting_payment')])).toEqual(['o1']);
});

test('a sale needs a report, or an execution that n8n lost', () => {
	expect(withoutExecution(['a', 'a', 'b'], [report('a')], 1)).toEqual([]);
	expect(withoutExecution(['a', 'a', 'b'], [report('a')], 0)).toEqual(['b']);
	expect(withoutExecution(['a', 'b', 'c'], [report('a')], 1)).toHaveLength(1);
});

test('a wait needs a report of the final status, or of its time limit', () => {
	const charges = [charge('o1'), charge('o2', 'canceled'), charge('o3')];
	const [paid, canceled, late] = charges.map(({ hash }) => hash) as [string, string, string];
	const reports = [
		report(paid),
		report(canceled, { payment_status: 'canceled' }),
		report(late, { payment_status: 'waiting_payment', timed_out: true }),
	];

	expect(withoutEnd([paid, canceled, late], charges, reports)).toEqual([]);
	expect(withoutEnd([paid, canceled], charges, [report(paid), report(canceled)])).toEqual([
		canceled,
	]);
	expect(
		withoutEnd([late], charges, [report(late, { payment_status: 'waiting_payment' })]),
	).toEqual([late]);
});

test('a plan follows from its seed, and has each kind of act and disaster', () => {
	const size = { rounds: 12, actsEach: 25, hasServers: true };
	const plan = makePlan(new Chance(7), size);
	const kinds = plan.rounds.flatMap(({ acts, disaster }) => [
		...acts.map(({ act }) => act.kind),
		disaster.kind,
	]);

	expect(makePlan(new Chance(7), size)).toEqual(plan);
	expect(makePlan(new Chance(8), size)).not.toEqual(plan);
	expect([...new Set(kinds)].sort()).toEqual(
		['charge', 'kill', 'notify', 'restart', 'retry', 'settle', 'wait'].sort(),
	);
});
