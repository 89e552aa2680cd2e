"""A network interface whose packets to 10.9.0.2 come back as from there, each way after DELAY_SECONDS."""
import fcntl
import os
import select
import struct
import subprocess
import time

DELAY_SECONDS = 0.5
TUNSETIFF = 0x400454CA
TUN_WITHOUT_HEADER = 0x1001

tun = os.open('/dev/net/tun', os.O_RDWR)
fcntl.ioctl(tun, TUNSETIFF, struct.pack('16sH', b'slow', TUN_WITHOUT_HEADER))
for command in ('addr add 10.9.0.1/24 dev slow', 'link set slow up', 'link set lo up'):
    subprocess.run(['ip', *command.split()], check=True)
print('ready', flush=True)

waiting = []
while True:
    delay = max(0, waiting[0][0] - time.monotonic()) if waiting else None
    if select.select([tun], [], [], delay)[0]:
        packet = os.read(tun, 65536)
        if packet[0] >> 4 == 4:
            swapped = packet[:12] + packet[16:20] + packet[12:16] + packet[20:]
            waiting.append((time.monotonic() + DELAY_SECONDS, swapped))
    while waiting and waiting[0][0] <= time.monotonic():
        os.write(tun, waiting.pop(0)[1])
