/* Opens a device by name through the C interface and prints the status and the sentence. */
#include <stdio.h>

#include "radiance/radiance.h"

int main(int argc, char** argv) {
  radiance_device* device = NULL;
  if (argc != 2) return 3;
  const radiance_status status = radiance_device_open(argv[1], NULL, &device);
  printf("%s: %s\n", radiance_status_name(status), radiance_last_error());
  if (status != RADIANCE_OK) return device == NULL ? 1 : 2;
  radiance_device_close(device);
  return 0;
}
