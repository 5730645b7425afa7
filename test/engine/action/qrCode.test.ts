import type { INodeExecutionData, INodeParameters } from 'n8n-workflow';
import { readQrCode } from '../../helpers/readQrCode';
import { pixParameters, useAccount } from '../../helpers/account';
import { customers, OWN_CUSTOMER } from '../../helpers/charging';
import { callTool } from '../../helpers/tool';

describe('The QR code of a PIX transaction', () => {
	const account = useAccount();

	const parameters = (more: INodeParameters = {}): INodeParameters =>
		pixParameters(account.sandbox, more);
	const picture = { qrCodeImage: true };
	const code = (): string => account.sandbox.transactions[0]?.pix?.pix_qr_code ?? '';
	const textIn = (item: INodeExecutionData | undefined, property: string): string | undefined => {
		const base64 = item?.binary?.[property]?.data;
		return base64 === undefined ? undefined : readQrCode(Buffer.from(base64, 'base64'));
	};
	/** The code that the platform returns, for one charge or for all charges. */
	const answers = (pix_qr_code: string | null, times?: 'always'): void => {
		const set = { pix: { pix_url: null, pix_qr_code, qr_code_base64: null } };
		account.fault('charge', { kind: 'patchBody', set }, times);
	};

	test('is returned by default, and can be turned off', async () => {
		const first = await account.run({ ...parameters(), options: { webhooksGoTo: 'none' } });
		const second = await account.run(parameters());

		expect(textIn(first.items[0], 'qrCode')).toBe(code());
		expect(second.items[0]).not.toHaveProperty('binary');
	});

	test('is not drawn for an agent, because n8n gives agents no files', async () => {
		const { answers, outcome } = await callTool(parameters(picture), [{}], {
			credentials: account.credentials,
		});

		expect(answers).toMatchObject([[{ pix: { pix_qr_code: code() } }]]);
		expect(JSON.stringify(outcome.logs)).not.toContain('binary data');
	});

	test.each([true, false])('is a PNG that a phone reads (Simplify %s)', async (simplify) => {
		const { items } = await account.run(parameters({ ...picture, simplify }));

		expect(items[0]?.binary?.qrCode).toMatchObject({
			mimeType: 'image/png',
			fileExtension: 'png',
			fileName: `pix-${account.sandbox.transactions[0]?.hash}.png`,
		});
		expect(textIn(items[0], 'qrCode')).toBe(code());
	});

	test('is a data URL in charges and reads if that output field is chosen', async () => {
		const options = { fields: ['pix_qr_code_image'] };
		const made = await account.run(parameters({ options, simplify: true }));
		const items = made.items.map(({ json }) => json);
		const get = { resource: 'transaction', operation: 'get', simplify: true, options };
		const read = await account.run({ ...get, transactionHash: '={{ $json.hash }}' }, { items });

		for (const { json, binary } of [...made.items, ...read.items]) {
			const [type, base64 = ''] = String(json.pix_qr_code_image).split(',');
			expect(type).toBe('data:image/png;base64');
			expect(readQrCode(Buffer.from(base64, 'base64'))).toBe(code());
			expect(binary).toBeUndefined();
		}
	});

	test('is not a data URL once the transaction can no longer be paid', async () => {
		account.fault('charge', { kind: 'patchBody', set: { payment_status: 'refused' } });

		const options = { fields: ['pix_qr_code_image'] };
		const { items } = await account.run(parameters({ options, simplify: true }));

		expect(items).toMatchObject([{ json: { pix_qr_code_image: null } }]);
	});

	test.each([
		['../a b-c_d', 'pix-_a_b-c_d.png'],
		['a'.repeat(300), `pix-${'a'.repeat(100)}.png`],
	])('has a file name that every file system accepts: %s', async (hash, fileName) => {
		account.fault('charge', { kind: 'patchBody', set: { hash } });

		const { items } = await account.run(parameters(picture));

		expect(items[0]?.binary?.qrCode?.fileName).toBe(fileName);
	});

	test('is drawn for Get, too', async () => {
		await account.run(parameters());
		const transactionHash = account.sandbox.transactions[0]?.hash ?? '';

		const { items } = await account.run({
			resource: 'transaction',
			operation: 'get',
			transactionHash,
			options: picture,
		});

		expect(textIn(items[0], 'qrCode')).toBe(code());
	});

	test('draws exactly the returned code, trimmed', async () => {
		await account.run(parameters());
		const whole = code();
		answers(` ${whole}\r\n`);

		const { items, hints } = await account.run(parameters({ ...picture, simplify: true }));

		expect([textIn(items[0], 'qrCode'), items[0]?.json.pix_qr_code]).toEqual([whole, whole]);
		expect(hints).toEqual([]);
	});

	test('is missing if the platform returns no code, and charges share one hint', async () => {
		answers(null, 'always');

		const { items, hints } = await account.run(parameters({ ...picture, ...OWN_CUSTOMER }), {
			items: customers(3),
		});

		const made = items.map(({ json }) => `Transaction ${String(json.hash)}`);
		expect(items.every(({ binary }) => binary === undefined)).toBe(true);
		expect(hints.map(({ message }) => message)).toEqual([
			`${made.join(', ')}: No PIX code was created; the payment status is waiting_payment.`,
		]);
	});

	test('is missing with a hint if the PIX code is too long for a QR code', async () => {
		answers('x'.repeat(125_000));

		const { items, hints } = await account.run(parameters(picture));

		expect(items[0]).not.toHaveProperty('binary');
		expect(JSON.stringify(hints)).toContain(
			`Transaction ${String(items[0]?.json.hash)}: The QR code picture could not be stored`,
		);
	});
});
