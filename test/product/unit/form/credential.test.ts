import type { ICredentialDataDecryptedObject } from 'n8n-workflow';
import { DigitalSalesApi } from '../../../../credentials/DigitalSalesApi.credentials';

test.each<[ICredentialDataDecryptedObject, string]>([
	[{ apiToken: 'test-token' }, 'Bearer test-token'],
	[{ apiToken: ' test-token\n' }, 'Bearer test-token'],
	[{ apiToken: '' }, 'Bearer '],
	[{}, 'Bearer '],
])(
	'a request of anybody with the credential %j carries "%s"',
	async (credential, authorization) => {
		const request = {
			url: 'https://api.example.com/v1/products',
			headers: { Accept: 'text/plain' },
		};

		const authenticated = await new DigitalSalesApi().authenticate(credential, request);

		expect(authenticated).toEqual({
			...request,
			headers: { Accept: 'text/plain', Authorization: authorization },
		});
		expect(request.headers).toEqual({ Accept: 'text/plain' });
	},
);
